"""The CONFIG argument of all commands: `plumb -c FILE COMMAND ...` and `plumb COMMAND FILE ...` are equivalent.

The first argument of a command is the config file if -c is not used and one of these is true: its name ends in `.toml`
and it is not a URL, or the command has no arguments. A group accepts the file after its own name or after the
subcommand.
"""

from pathlib import Path

import click

DEFAULT_CONFIG_FILE = "vertical.toml"
CONFIG_METAVAR = "[CONFIG]"
CONFIG_HELP = f"CONFIG is the config file of the vertical; `plumb -c CONFIG` means the same [{DEFAULT_CONFIG_FILE}]"


class ConfigCommand(click.Command):
    """Base class of commands and groups that accept CONFIG as their first argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move the config file from the arguments to `ctx.obj["config"]`, then parse the other arguments."""
        context_data = ctx.ensure_object(dict)
        index = first_positional_index(args, self.value_option_names(ctx))
        if context_data.get("config") is None and index is not None and self.is_config_path(args[index]):
            context_data["config"] = Path(args[index])
            args = [*args[:index], *args[index + 1 :]]
        return super().parse_args(ctx, args)

    def value_option_names(self, ctx: click.Context) -> frozenset[str]:
        """Return the names of the options that take a value."""
        options = (option for option in self.get_params(ctx) if isinstance(option, click.Option))
        return frozenset(name for option in options if not (option.is_flag or option.count) for name in option.opts)

    def is_config_path(self, text: str) -> bool:
        """True if `text`, the first argument, is the config file (see the module docstring)."""
        takes_config_only = not isinstance(self, click.Group) and not self.declared_arguments
        return takes_config_only or (text.lower().endswith(".toml") and "://" not in text)

    @property
    def declared_arguments(self) -> list[click.Argument]:
        """The arguments of the command without CONFIG."""
        return [argument for argument in self.params if isinstance(argument, click.Argument)]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Add [CONFIG] to the usage line."""
        options, *arguments = super().collect_usage_pieces(ctx)
        return [options, CONFIG_METAVAR, *arguments]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Describe CONFIG at the end of the help."""
        has_arguments = bool(self.declared_arguments) or isinstance(self, click.Group)
        condition = "; the first argument is read as CONFIG if it ends in .toml" if has_arguments else ""
        formatter.write_paragraph()
        formatter.write_text(f"{CONFIG_HELP}{condition}.")


class VerticalCommand(ConfigCommand):
    """Command that works on a vertical."""


class VerticalGroup(ConfigCommand, click.Group):
    """Group of commands that work on a vertical."""

    command_class = VerticalCommand


def first_positional_index(args: list[str], options_with_value: frozenset[str]) -> int | None:
    """Return the index of the first argument that is neither an option nor its value; None if all are."""
    index = 0
    while index < len(args):
        if args[index] == "--":
            return index + 1 if index + 1 < len(args) else None
        if not args[index].startswith("-") or args[index] == "-":
            return index
        index += 2 if args[index] in options_with_value else 1
    return None


def format_usage_error(exc: click.UsageError) -> str:
    """Format a usage error as one line with the usage of the command."""
    message = " ".join(exc.format_message().split())
    if exc.ctx is None:
        return f"plumb: {message}"
    usage = " ".join(exc.ctx.get_usage().split()).removeprefix("Usage: ")
    return f"{exc.ctx.command_path}: {message.rstrip('.')}; usage: {usage} (see --help)"
