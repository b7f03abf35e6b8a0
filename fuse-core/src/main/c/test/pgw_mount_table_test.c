/* The table of mounts is believed when two readings give the same. */
#include "../pgw_mount_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Gives one text after the other, up to NULL. */
static char *next_of(void *context) {
    const char *const **texts = (const char *const **)context;
    const char *text = *(*texts)++;
    return text == NULL ? NULL : strdup(text);
}

static void readingThatMissesAMount_isNotBelieved(void **state) {
    static const char *const readings[] = {"a\n", "a\nb\n", "b\n", "a\nb\n", "a\nb\n", NULL};
    const char *const *next = readings;
    (void)state;
    char *table = pgw_mount_table_stable(next_of, (void *)&next);
    assert_non_null(table);
    assert_string_equal(table, "a\nb\n");
    free(table);
}

static void tableThatCannotBeRead_isNone(void **state) {
    static const char *const readings[] = {"a\n", NULL};
    const char *const *next = readings;
    (void)state;
    assert_null(pgw_mount_table_stable(next_of, (void *)&next));
}

static void tableOfThisProcess_isReadWhole(void **state) {
    (void)state;
    char *table = pgw_mount_table_stable(pgw_mount_table_read, NULL);
    assert_non_null(table);
    assert_true(table[0] != '\0' && table[strlen(table) - 1] == '\n');
    free(table);
    assert_false(pgw_mount_table_has("/", "999:999"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readingThatMissesAMount_isNotBelieved),
        cmocka_unit_test(tableThatCannotBeRead_isNone),
        cmocka_unit_test(tableOfThisProcess_isReadWhole),
    };
    return cmocka_run_group_tests_name("mount table", tests, NULL, NULL);
}
