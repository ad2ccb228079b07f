"""Writes what Keras prints into the guide: runs the Python blocks of a chapter, one after another,
and puts the output of each into a text block after the Lua block that follows it.

    KERAS_BACKEND=torch python3 tests/documents/record_keras.py examples/guide/13-from-keras.md

Run it in the top of the checkout with Keras 3 installed. The test guide.lua compares what Crescent
prints with it.
"""
import contextlib
import io
import os
import re
import sys
import tempfile

BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n.*?```\n)?", re.S)


def main(path):
    path, names = os.path.abspath(path), {}
    code_of_tree = os.getcwd() + "/examples/"

    def with_output(match):
        output = io.StringIO()
        code = match[1].replace('"examples/', '"' + code_of_tree)
        with contextlib.redirect_stdout(output):
            exec(compile(code, path, "exec"), names)
        block = "```python\n" + match[1] + "```\n"
        return block + ("```text\n" + output.getvalue() + "```\n" if output.getvalue() else "")

    text = open(path).read()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the programs write files
        text = BLOCK.sub(with_output, text)
    open(path, "w").write(text)


for chapter in sys.argv[1:]:
    top = os.getcwd()
    main(chapter)
    os.chdir(top)
