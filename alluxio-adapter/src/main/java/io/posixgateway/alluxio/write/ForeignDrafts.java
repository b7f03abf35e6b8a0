package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.NodeIds;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends the drafts of files of another Alluxio than the one that answers: uploaded there, they would be in a stranger's place. Waits. */
public final class ForeignDrafts {
    private static final Logger LOG = LoggerFactory.getLogger(ForeignDrafts.class);

    private final Drafts drafts;
    private final NodeIds ids;

    public ForeignDrafts(Drafts drafts, NodeIds ids) {
        this.drafts = drafts;
        this.ids = ids;
    }

    /**
     * Sets their content aside, where Alluxio has, or had, not all of it.
     *
     * @param why in half a sentence that follows "as"
     */
    public void setAside(String why) {
        for (Draft draft : drafts.drafts.all()) {
            if (ids.isForeign(draft.inode.node())) {
                end(draft, why);
            }
        }
        drafts.doubtful().setAside(ids, why);
    }

    private void end(Draft draft, String why) {
        draft.lock.lock();
        try {
            if (!draft.holdsContent()) {
                drafts.end(draft, false);
            } else if (drafts.retire(draft)) {
                draft.spool.close(true);
                drafts.folder.setAside(draft.spool, draft.record.content().path(), why);
            }
        } catch (StoreException e) {
            LOG.error("{} stays where it is, because {}: {}", draft.spool.file(), why, e.getMessage());
        } finally {
            draft.unlock();
        }
    }
}
