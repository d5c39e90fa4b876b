"""One grammar for every verb: `plumb -c FILE VERB ...` and `plumb VERB FILE ...` mean the same.

The first argument behind a verb is the vertical's file if none was named with -c and it can be nothing else: its name
ends in `.toml` (and it is no URL), or the verb takes no argument of its own. What begins with a minus is an option, as
everywhere. A group of verbs takes the file behind its own name or behind the verb's.
"""

from pathlib import Path

import click

CONFIG = "vertical.toml"
METAVAR = "[CONFIG]"
HELP = f"CONFIG is the config file of the vertical; `plumb -c CONFIG` means the same [{CONFIG}]"


class TakesVertical(click.Command):
    """What verbs and groups of them share."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the vertical's file out of the arguments; click never sees it."""
        given = ctx.ensure_object(dict)
        place = first_argument(args, self.options_with_value(ctx))
        if given.get("config") is None and place is not None and self.can_only_be_vertical(args[place]):
            given["config"] = Path(args[place])
            args = [*args[:place], *args[place + 1 :]]
        return super().parse_args(ctx, args)

    def options_with_value(self, ctx: click.Context) -> frozenset[str]:
        """The options that are followed by a value."""
        options = (one for one in self.get_params(ctx) if isinstance(one, click.Option))
        return frozenset(name for one in options if not (one.is_flag or one.count) for name in one.opts)

    def can_only_be_vertical(self, text: str) -> bool:
        """See the module's docstring."""
        is_sole = not isinstance(self, click.Group) and not self.own_arguments
        return is_sole or (text.lower().endswith(".toml") and "://" not in text)

    @property
    def own_arguments(self) -> list[click.Argument]:
        """The arguments besides the vertical's file."""
        return [one for one in self.params if isinstance(one, click.Argument)]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage says where the file may stand."""
        options, *rest = super().collect_usage_pieces(ctx)
        return [options, METAVAR, *rest]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help says what the file is."""
        own = " where its name ends in .toml" if self.own_arguments or isinstance(self, click.Group) else ""
        formatter.write_paragraph()
        formatter.write_text(f"{HELP}{';' if own else ''}{own and f' the first argument is it{own}'}.")


class Verb(TakesVertical):
    """A verb that works on a vertical."""


class Verbs(TakesVertical, click.Group):
    """A group of verbs that work on a vertical."""

    command_class = Verb


def first_argument(args: list[str], options_with_value: frozenset[str]) -> int | None:
    """The place of the first argument that is no option and no option's value."""
    place = 0
    while place < len(args):
        if args[place] == "--":
            return place + 1 if place + 1 < len(args) else None
        if not args[place].startswith("-") or args[place] == "-":
            return place
        place += 2 if args[place] in options_with_value else 1
    return None


def usage_line(error: click.UsageError) -> str:
    """A misuse in one line: what is wrong, and how it is used."""
    message = " ".join(error.format_message().split())
    if error.ctx is None:
        return f"plumb: {message}"
    usage = " ".join(error.ctx.get_usage().split()).removeprefix("Usage: ")
    return f"{error.ctx.command_path}: {message.rstrip('.')}; usage: {usage} (see --help)"
