"""configs/README.md names every key that the config is read for, and none that is not known."""
import re
import unittest

from house import ROOT

PAGE = (ROOT / "configs/README.md").read_text()
CONFIG = ROOT / "lib/config"


def sections():
    """Keys that the page names, dotted; a row may hold several of one section."""
    keys = set()
    for row in re.findall(r"^\|(.*?)\|", PAGE, re.MULTILINE):
        section = ""
        for key in re.findall(r"`([\w.\[\]]+)`", row):
            section = key[: key.rfind(".") + 1] or section
            keys.add(section + key.split(".")[-1])
    return keys


class ConfigKeys(unittest.TestCase):
    def test_every_key_that_is_read_is_documented(self):
        readers = [*CONFIG.glob("read_axolotl*.cpp"), CONFIG / "read_own_sections.cpp"]
        source = "".join(file.read_text() for file in readers)
        read = set(re.findall(r'\.read(?:_word|_presence)?\([\w.]+, "(\w+)"\)', source))
        self.assertGreater(len(read), 150)
        self.assertEqual(read - {key.split(".")[-1] for key in sections()}, set())

    def test_every_key_of_the_page_is_known(self):
        known = set()
        for file in ("axolotl_keys.cpp", "own_keys.cpp"):
            known |= set(re.findall(r'KeyInfo\{"(\w+)"', (CONFIG / file).read_text()))
        unchecked = "trl."  # a mapping whose keys nobody lists
        checked = {key for key in sections() if not key.startswith(unchecked)}
        parts = {part for key in checked for part in key.replace("[]", "").split(".")}
        # Old spellings inside fsdp_config, which axolotl translates.
        old = {part for part in parts if part.removeprefix("fsdp_") in known} | {"version"}
        self.assertEqual(parts - known - old, set())


unittest.main()
