package io.posixgateway.alluxio.simulation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The histories that agree with all that was answered and seen so far, each as the {@link Model} that it ends with. For one thread. */
final class Histories {
    private Set<Model> models = new LinkedHashSet<>();

    Histories(Model first) {
        models.add(first);
    }

    Collection<Model> models() {
        return models;
    }

    boolean any(Predicate<Model> holds) {
        return models.stream().anyMatch(holds);
    }

    /** Each is another one. */
    void map(UnaryOperator<Model> change) {
        mapEach(model -> List.of(change.apply(model)));
    }

    /** Each is one of several. */
    void mapEach(Function<Model, Collection<Model>> change) {
        Set<Model> next = new LinkedHashSet<>();
        models.forEach(model -> next.addAll(change.apply(model)));
        models = next;
    }

    /** Those of others are possible, too. */
    void add(Collection<Model> others) {
        models.addAll(others);
    }

    /** The step's answer is not known, or it failed. */
    void spread(Step step, boolean ended) {
        mapEach(model -> model.maybe(step, ended));
    }

    /** Keeps those that agree with an answer. False: none does, and all stay. */
    boolean agree(Step step, Outcome outcome) {
        Set<Model> agree = new LinkedHashSet<>();
        for (Model model : models) {
            Model after = model.after(step);
            if (outcome.succeeds() && after != null && reads(step, model, outcome)) {
                agree.add(after);
            } else if (outcome.isDefinite() && after == null) {
                agree.add(model);
            }
        }
        models = agree.isEmpty() ? models : agree;
        return !agree.isEmpty();
    }

    private static boolean reads(Step step, Model model, Outcome outcome) {
        return switch (step.kind()) {
            case READ -> outcome.content().equals(model.read(step.actor(), step.path()));
            case STAT -> model.shows(step.actor(), step.path(), outcome.attributes());
            default -> true;
        };
    }

    /** Those of another, of which some may be in place of these: of two that write one file the last to close wins. */
    void addWithoutOther(Histories before, Step last) {
        before.models.stream()
                .map(model -> model.after(last))
                .filter(Objects::nonNull)
                .forEach(models::add);
    }

    Histories copy() {
        Histories copy = new Histories(new Model());
        copy.models = new LinkedHashSet<>(models);
        return copy;
    }

    /** Keeps those that agree with the answers of two that were done at the same time, in any order. False: none does. */
    boolean agreeInAnyOrder(Step step, Outcome outcome, Step other, Outcome others) {
        Set<Model> agree = new LinkedHashSet<>();
        for (Model model : models) {
            agree.addAll(inOrder(model, step, outcome, other, others));
        }
        for (Model model : models) {
            agree.addAll(inOrder(model, other, others, step, outcome));
        }
        models = agree;
        return !agree.isEmpty();
    }

    private static Set<Model> inOrder(Model model, Step first, Outcome one, Step second, Outcome two) {
        Set<Model> agree = new LinkedHashSet<>();
        for (Model between : possible(model, first, one)) {
            if (between.skips(second)) {
                agree.addAll(between.maybe(second, true));
            } else {
                agree.addAll(possible(between, second, two));
            }
        }
        return agree;
    }

    private static List<Model> possible(Model model, Step step, Outcome outcome) {
        Model after = model.after(step);
        if (outcome.succeeds()) {
            return after != null && reads(step, model, outcome) ? List.of(after) : List.of();
        }
        return outcome.isDefinite() && after == null ? List.of(model) : model.maybe(step, true);
    }

    /**
     * Do some agree with what others see? Null: they do; else why not.
     *
     * @param lenient files that are not complete may be left for a while
     * @param keeps those alone from now on
     */
    @Nullable
    String look(Seen seen, boolean lenient, boolean keeps) {
        Set<Model> agree = new LinkedHashSet<>();
        List<String> why = new ArrayList<>();
        for (Model model : models) {
            String differs = model.differs(seen, lenient);
            if (differs == null) {
                agree.add(keeps ? model.narrowed(seen) : model);
            } else {
                why.add(differs);
            }
        }
        if (agree.isEmpty()) {
            return why.toString();
        }
        models = keeps ? agree : models;
        return null;
    }

    @Override
    public String toString() {
        return models.toString();
    }
}
