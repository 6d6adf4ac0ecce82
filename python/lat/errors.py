# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong: with a stream (StreamError), with a tool (ToolError), with a package that is not installed."""
import importlib


class StreamError(ValueError):
    """A stream that is damaged, or that cannot be written: what was expected, what was found, in which file and field.

    file is None where no file is involved yet; field is its number in the file, from 0."""

    def __init__(self, expected, found, file=None, field=None):
        super().__init__(expected, found, file, field)
        self.expected, self.found, self.file, self.field = expected, found, file, field

    def __str__(self):
        where = f"{self.file}: " if self.file is not None else ""
        if self.field:
            where += f"field {self.field}: "
        return f"{where}expected {self.expected}, found {self.found}"


def demand(condition, expected, found):
    """Raises StreamError unless condition holds."""
    if not condition:
        raise StreamError(expected, found)


def shown(text):
    """Text from a file, so that it can stand in a sentence: quoted, and not too long."""
    text = ascii(text)
    return text if len(text) <= 80 else text[:76] + "..." + text[0]


class ToolError(RuntimeError):
    """A tool that failed; the text is the tool's own sentence.

    status      its exit status: 1 failed, 2 wrong usage, 3 not converged, 127 not in PATH, below 0 ended by a signal
    words       its name and arguments
    messages    all that it wrote on stderr
    output      the bytes that it wrote on stdout, where they were kept (lat.run)"""

    def __init__(self, words, status, messages, output=b""):
        super().__init__(words, status, messages, output)
        self.words, self.status, self.messages, self.output = words, status, messages, output

    @property
    def result(self):
        """What it wrote before it failed, as a Result: with keep=True the fields that have not converged."""
        from .tools import Result
        return Result(self.words, self.output, self.messages)

    def __str__(self):
        return self.messages.strip() or f"{self.words[0]}: expected exit status 0, found {self.status}"


class NotConverged(ToolError):
    """Exit status 3: not converged, or above a tolerance that was asked for."""


class ToolWarning(UserWarning):
    """What a tool that succeeded said on stderr."""


def needed(package, what):
    """An optional package; ImportError with a sentence where it is missing."""
    try:
        return importlib.import_module(package)
    except ImportError as wrong:
        name = package.partition(".")[0]
        raise ImportError(f"{what}: expected the package {name}, found none (pip install {name}): {wrong}") from None
