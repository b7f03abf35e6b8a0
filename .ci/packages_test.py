"""Imports point downwards, and a library that one package owns is imported there alone."""

import unittest

from packages import BASE, complaints, read

PACKAGES = read(["# top", "fs", "meta", "client + alluxio.", "control.proto"])


class Packages(unittest.TestCase):
    def found(self, package: str, *names: str) -> list[str]:
        text = "".join(f"import {name};\n" for name in names)
        return list(complaints(package, text, PACKAGES))

    def test_an_import_of_what_lies_below_is_fine(self):
        self.assertEqual([], self.found("fs", f"{BASE}.meta.Inode", f"static {BASE}.control.proto.Volume.Kind"))

    def test_an_import_of_what_lies_above_is_found(self):
        self.assertEqual(
            [f"{BASE}.fs.Handles.Kind.OPEN: meta lies below fs"],
            self.found("meta", f"static {BASE}.fs.Handles.Kind.OPEN"),
        )

    def test_a_class_by_its_full_name_counts_as_imported(self):
        found = complaints("meta", f"class A {{ {BASE}.fs.Handles handles; }}", PACKAGES)
        self.assertEqual([f"{BASE}.fs.Handles: meta lies below fs"], list(found))

    def test_comments_and_strings_may_name_what_lies_above(self):
        text = f'/** {{@link {BASE}.fs.Handles}} */ // {BASE}.fs.Handles\nString name = "{BASE}.fs.Handles";'
        self.assertEqual([], list(complaints("meta", text, PACKAGES)))

    def test_a_library_of_another_package_is_found(self):
        self.assertEqual(["alluxio.client.X: only client may import it"], self.found("fs", "alluxio.client.X"))
        self.assertEqual([], self.found("client", "alluxio.client.X"))

    def test_a_package_that_nobody_listed_is_found(self):
        self.assertEqual(["package new is not listed in .ci/packages"], self.found("new"))
        self.assertEqual(["package new is not listed in .ci/packages"], self.found("fs", f"{BASE}.new.Thing"))


if __name__ == "__main__":
    unittest.main()
