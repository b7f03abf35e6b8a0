/* Our wire structs against the kernel's header, as far as that knows them; and the table that Java
 * reads. */
#include "pgw_layout.h"
#include "pgw_wire.h"

#include <errno.h>
#include <linux/fuse.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SAME_SIZE(ours, theirs)                                                                    \
    _Static_assert(sizeof(struct pgw_##ours) == sizeof(struct theirs), "size of " #theirs)
#define SAME_PLACE(name, field)                                                                    \
    _Static_assert(offsetof(struct pgw_##name, field) == offsetof(struct fuse_##name, field),      \
                   "place of " #field " in " #name)

SAME_SIZE(in_header, fuse_in_header);
SAME_SIZE(out_header, fuse_out_header);
SAME_SIZE(attr, fuse_attr);
SAME_SIZE(entry_out, fuse_entry_out);
SAME_SIZE(attr_out, fuse_attr_out);
SAME_SIZE(init_in, fuse_init_in);
SAME_SIZE(init_out, fuse_init_out);
SAME_SIZE(setattr_in, fuse_setattr_in);
SAME_SIZE(mknod_in, fuse_mknod_in);
SAME_SIZE(mkdir_in, fuse_mkdir_in);
SAME_SIZE(rename2_in, fuse_rename2_in);
SAME_SIZE(create_in, fuse_create_in);
SAME_SIZE(open_out, fuse_open_out);
SAME_SIZE(release_in, fuse_release_in);
SAME_SIZE(flush_in, fuse_flush_in);
SAME_SIZE(read_in, fuse_read_in);
SAME_SIZE(write_in, fuse_write_in);
SAME_SIZE(statfs_out, fuse_statfs_out);
SAME_SIZE(fsync_in, fuse_fsync_in);
SAME_SIZE(lk_in, fuse_lk_in);
SAME_SIZE(fallocate_in, fuse_fallocate_in);
SAME_SIZE(lseek_in, fuse_lseek_in);
SAME_SIZE(copy_file_range_in, fuse_copy_file_range_in);
SAME_SIZE(dirent, fuse_dirent);
SAME_SIZE(direntplus, fuse_direntplus);
SAME_SIZE(notify_inval_inode_out, fuse_notify_inval_inode_out);
SAME_SIZE(notify_inval_entry_out, fuse_notify_inval_entry_out);
SAME_SIZE(notify_delete_out, fuse_notify_delete_out);
#if FUSE_KERNEL_MINOR_VERSION >= 39
SAME_SIZE(statx_in, fuse_statx_in);
SAME_SIZE(statx_out, fuse_statx_out);
SAME_PLACE(statx, btime);
SAME_PLACE(statx, rdev_minor);
SAME_PLACE(statx_out, stat);
#endif
SAME_PLACE(in_header, unique);
SAME_PLACE(in_header, nodeid);
SAME_PLACE(in_header, pid);
SAME_PLACE(attr, mode);
SAME_PLACE(attr, blksize);
SAME_PLACE(entry_out, attr);
SAME_PLACE(init_out, max_write);
SAME_PLACE(init_out, flags2);
SAME_PLACE(setattr_in, mtimensec);
SAME_PLACE(read_in, size);
SAME_PLACE(write_in, write_flags);
SAME_PLACE(lk_in, lk);

static void sizes_places_and_errors_are_found_by_name(void **state) {
    (void)state;
    assert_int_equal(pgw_layout_find("read_in"), 40);
    assert_int_equal(pgw_layout_find("read_in.offset"), 8);
    assert_int_equal(pgw_layout_find("ENOENT"), ENOENT);
}

static void an_unknown_name_is_not_found(void **state) {
    (void)state;
    assert_int_equal(pgw_layout_find("read_in.nothing"), -1);
    assert_int_equal(pgw_layout_find(""), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_places_and_errors_are_found_by_name),
        cmocka_unit_test(an_unknown_name_is_not_found),
    };
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
