"""One grammar for every verb: `plumb -c FILE VERB ...` and `plumb VERB FILE ...` mean the same.

The first argument behind a verb is the vertical's file if none was named with -c and it can be nothing else: its name
ends in `.toml` (and it is no URL), or the verb takes no argument of its own. What begins with a minus is an option, as
everywhere. A group of verbs takes the file behind its own name or behind the verb's.
"""

from pathlib import Path

import click

DEFAULT_CONFIG_FILE = "vertical.toml"
CONFIG_METAVAR = "[CONFIG]"
CONFIG_HELP = f"CONFIG is the config file of the vertical; `plumb -c CONFIG` means the same [{DEFAULT_CONFIG_FILE}]"


class ConfigCommand(click.Command):
    """What verbs and groups of them share."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the vertical's file out of the arguments; click never sees it."""
        context_data = ctx.ensure_object(dict)
        index = first_positional_index(args, self.value_option_names(ctx))
        if context_data.get("config") is None and index is not None and self.is_config_path(args[index]):
            context_data["config"] = Path(args[index])
            args = [*args[:index], *args[index + 1 :]]
        return super().parse_args(ctx, args)

    def value_option_names(self, ctx: click.Context) -> frozenset[str]:
        """The options that are followed by a value."""
        options = (option for option in self.get_params(ctx) if isinstance(option, click.Option))
        return frozenset(name for option in options if not (option.is_flag or option.count) for name in option.opts)

    def is_config_path(self, text: str) -> bool:
        """See the module's docstring."""
        takes_config_only = not isinstance(self, click.Group) and not self.declared_arguments
        return takes_config_only or (text.lower().endswith(".toml") and "://" not in text)

    @property
    def declared_arguments(self) -> list[click.Argument]:
        """The arguments besides the vertical's file."""
        return [argument for argument in self.params if isinstance(argument, click.Argument)]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage says where the file may stand."""
        options, *rest = super().collect_usage_pieces(ctx)
        return [options, CONFIG_METAVAR, *rest]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help says what the file is."""
        condition = " where its name ends in .toml" if self.declared_arguments or isinstance(self, click.Group) else ""
        formatter.write_paragraph()
        formatter.write_text(
            f"{CONFIG_HELP}{';' if condition else ''}{condition and f' the first argument is it{condition}'}."
        )


class VerticalCommand(ConfigCommand):
    """A verb that works on a vertical."""


class VerticalGroup(ConfigCommand, click.Group):
    """A group of verbs that work on a vertical."""

    command_class = VerticalCommand


def first_positional_index(args: list[str], options_with_value: frozenset[str]) -> int | None:
    """The place of the first argument that is no option and no option's value."""
    index = 0
    while index < len(args):
        if args[index] == "--":
            return index + 1 if index + 1 < len(args) else None
        if not args[index].startswith("-") or args[index] == "-":
            return index
        index += 2 if args[index] in options_with_value else 1
    return None


def format_usage_error(exc: click.UsageError) -> str:
    """A misuse in one line: what is wrong, and how it is used."""
    message = " ".join(exc.format_message().split())
    if exc.ctx is None:
        return f"plumb: {message}"
    usage = " ".join(exc.ctx.get_usage().split()).removeprefix("Usage: ")
    return f"{exc.ctx.command_path}: {message.rstrip('.')}; usage: {usage} (see --help)"
