# SPDX-License-Identifier: BSD-3-Clause
"""The tools in PATH, as functions: lat.run waits for a tool, lat.stream gives its fields away while it runs."""
import io
import json
import numbers
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
import warnings

from .errors import NotConverged, StreamError, ToolError, ToolWarning, demand
from .field import Field
from .header import FIRST_LINE
from .reader import Reader, read
from .tables import Table
from .writer import write

PIECE = 1 << 20


class Result:
    """What a tool wrote: output (bytes), messages (stderr), words (its name and arguments)."""

    def __init__(self, words, output, messages):
        self.words, self.output, self.messages = words, output, messages

    @property
    def text(self):
        return self.output.decode("utf-8", "replace")

    @property
    def table(self):
        """The columns that the tool printed (tsv=True): a Table."""
        return Table.parse(self.text.splitlines(), shlex.join(self.words))

    @property
    def json(self):
        """The objects that the tool printed (json=True), one for each line."""
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def field(self):
        """The field that the tool wrote; StreamError if it wrote several."""
        return only(self.fields(), shlex.join(self.words))

    def fields(self):
        """An iterator over the fields that the tool wrote."""
        return read(io.BytesIO(self.output))

    def __repr__(self):
        what = f"a stream of {len(self.output)} bytes" if self.output.startswith(FIRST_LINE) else f"{len(self.text.splitlines())} lines"
        return f"<lat.Result {shlex.join(self.words)}: {what}>"


def only(fields, name):
    """The one field of an iterator."""
    first = next(fields, None)
    demand(first is not None, f"a field of {name}", "none")
    demand(next(fields, None) is None, f"one field of {name}", "several (lat.fields, lat.stream and .fields() give one after the other)")
    return first


class Process:
    """A tool that runs, fed by a thread. Its arguments are words; fields, bytes, tables, results, and iterators over these go to
    its stdin. On the way out of a `with` block it is ended."""

    def __init__(self, tool, arguments, options):
        self.folder = tempfile.TemporaryDirectory(prefix="lat-")
        self.failed = None
        try:
            self.words, self.inputs = self._words(tool, arguments, options)
            program = shutil.which(self.words[0])
            if not program:
                raise ToolError(self.words, 127, f"{self.words[0]}: expected this tool in PATH, found none (export PATH=PREFIX/bin:$PATH)")
            self.stderr = tempfile.TemporaryFile()
            stdin = subprocess.PIPE if self.inputs else subprocess.DEVNULL
            self.popen = subprocess.Popen([program] + self.words[1:], stdin=stdin, stdout=subprocess.PIPE, stderr=self.stderr)
        except BaseException:
            self.folder.cleanup()
            raise
        self.feeder = threading.Thread(target=self._feed, daemon=True)
        self.feeder.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.popen.stdout.close()
        if self.popen.poll() is None:
            self.popen.terminate()
        self.popen.wait()
        self.feeder.join()
        self.stderr.close()
        self.folder.cleanup()

    def _words(self, tool, arguments, options):
        """The words of its command line, and its inputs."""
        words = shlex.split(tool)
        demand(words and "|" not in words, "the name of a tool, and options", repr(tool))
        words[0] = words[0] if words[0].startswith("lat-") else "lat-" + words[0]
        inputs = []
        for argument in arguments:
            if isinstance(argument, (str, numbers.Real, os.PathLike)):
                words.append(_text(argument))
            else:
                inputs.append(argument)
        for number, (key, value) in enumerate(options.items()):
            key = key.rstrip("_").replace("_", "-")
            if _is_data(value):
                with open(os.path.join(self.folder.name, f"{number}.{key}"), "wb") as file:
                    _put(value, file)
                value = file.name
            if value is True:
                words.append(f"-{key}" if len(key) == 1 else f"--{key}")
            elif value is not None and value is not False:
                words += [f"-{key}", _text(value)] if len(key) == 1 else [f"--{key}={_text(value)}"]
        return words, inputs

    def _feed(self):
        if not self.inputs:
            return
        try:
            with self.popen.stdin as pipe:
                for item in self.inputs:
                    _put(item, pipe)
        except BrokenPipeError:
            pass  # it needs no more, or its exit status says why not
        except BaseException as wrong:  # for whoever waits
            self.failed = wrong
            self.popen.terminate()
        finally:
            for item in self.inputs:
                if hasattr(item, "close"):
                    item.close()

    def finish(self, output=b""):
        """Waits for its end; what it said on stderr. ToolError if it failed."""
        while self.popen.stdout.read(PIECE):
            pass  # nobody asks for the rest
        status = self.popen.wait()
        self.feeder.join()
        if self.failed:
            raise self.failed
        self.stderr.seek(0)
        messages = self.stderr.read().decode("utf-8", "replace")
        if status:
            raise (NotConverged if status == 3 else ToolError)(self.words, status, messages, output)
        for line in messages.splitlines():
            warnings.warn(line, ToolWarning, stacklevel=3)
        return messages


def _is_data(value):
    """Whether the value of an option is what a file holds, and no words."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_is_data, value))
    return isinstance(value, (Field, Result, Table, bytes)) or hasattr(value, "__next__")


def _text(value):
    """An argument as a tool reads it."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if hasattr(value, "__iter__"):
        return ",".join(map(_text, value))
    return repr(float(value)) if value % 1 else str(int(value))


def _put(item, pipe):
    if isinstance(item, Field):
        write(pipe, item)
    elif isinstance(item, Result):
        pipe.write(item.output)
    elif isinstance(item, Table):
        pipe.write(item.text.encode())
    elif isinstance(item, bytes):
        pipe.write(item)
    else:
        demand(hasattr(item, "__iter__"), "words, fields, tables, results, bytes, or iterators over these", type(item).__name__)
        for one in item:
            _put(one, pipe)


def run(tool, *arguments, **options):
    """Runs a tool and waits for its end: a Result.

        lat.run("orelax", u, gauge="landau", theta=1e-12).field     lat-orelax --gauge=landau --theta=1e-12
        lat.run("corr --channels pion", prop).table["re"]

    tool        its name, with or without lat-, and options as in a shell
    arguments   words and names of files; fields, tables, results, bytes, and iterators over these go to its stdin
    options     theta=1e-12 is --theta=1e-12, tsv=True is --tsv, p="double" is -p double, dims=(4, 4, 4, 8) has commas; from_="raw"
                is --from=raw; fields (gauge_file=u, second=s), tables and results become a temporary file

    Raises ToolError with the tool's own sentence, NotConverged for exit status 3. Warnings of the tool are ToolWarnings. All
    output is in memory: lat.stream is for many fields."""
    with Process(tool, arguments, options) as process:
        output = process.popen.stdout.read()
        return Result(process.words, output, process.finish(output))


def stream(tool, *arguments, **options):
    """Runs a tool and gives its fields away, one at a time, each verified; arguments as in run. Neither side keeps a field,
    so memory stays what it is however many there are:

        for u in lat.stream("heatbath", dims=(8, 8, 8, 8), beta=6, count=1000): ...
        for s in lat.stream("solve", lat.fields(*files), kappa=0.15, source="point:0,0,0,0"): ...

    A tool that failed raises ToolError after its last whole field; one that is not asked for more fields is ended."""
    with Process(tool, arguments, options) as process:
        try:
            yield from Reader(process.popen.stdout)
        except StreamError:
            process.finish()  # a tool that failed says why
            raise
        process.finish()
