# SPDX-License-Identifier: BSD-3-Clause
"""The one exception of this package."""


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
