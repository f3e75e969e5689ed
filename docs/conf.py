# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration of Sphinx: the files of this folder are the chapters of one book."""
import re

project = "Cygnet"
author = "The Cygnet authors"
copyright = author  # pylint: disable=redefined-builtin
extensions = ["myst_parser"]
exclude_patterns = ["tests"]
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"page_width": "70em", "sidebar_width": "15em", "fixed_sidebar": True}
html_show_copyright = False
html_copy_source = False

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(\.\./([^)]+)\)")


def name_files(app, name, source):
    """The book has the chapters only. A link to another file of the source becomes its path."""
    def path(match):
        text = match[1].strip("`")
        return f"`{match[2]}`" if text in match[2] else f"{match[1]} (`{match[2]}`)"
    del app, name
    source[0] = LINK.sub(path, source[0])


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", name_files)
    return {"parallel_read_safe": True}
