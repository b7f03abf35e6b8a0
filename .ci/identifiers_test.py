"""House words are found in identifiers, and nowhere else."""

import unittest

from identifiers import complaints, read

TERMS = read(["Draft\tdirty file", "Hand Over\toffload", "Facts\tattr\tfactsOfOthers", "MOST\tMAX"])


class Identifiers(unittest.TestCase):
    def found(self, text: str) -> list[str]:
        return [line.split(":")[0] for line in complaints(text, TERMS)]

    def test_a_word_within_a_name_is_found_in_any_style(self):
        self.assertEqual(
            ["DraftTable", "a_draft_is_left", "newDraft"], self.found("DraftTable newDraft a_draft_is_left drafty")
        )

    def test_words_that_follow_each_other_are_found_and_others_not(self):
        self.assertEqual(["handOver"], self.found("handOver hand over handsOver"))

    def test_comments_and_strings_do_not_count(self):
        self.assertEqual([], self.found('// a draft\n/* draft */ "draft" \'d\' """\ndraft"""'))

    def test_what_is_allowed_is_not_found(self):
        self.assertEqual([], self.found("factsOfOthers"))

    def test_a_word_of_constants_is_found_in_these_alone(self):
        self.assertEqual(["MOST_BYTES"], self.found("MOST_BYTES most mostBytes"))


if __name__ == "__main__":
    unittest.main()
