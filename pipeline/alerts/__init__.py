"""What the operator hears of before the readers do: facts from the store, rules over them, and channels to tell by."""
