package io.posixgateway.alluxio.client;

import alluxio.conf.InstancedConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.conf.Source;
import alluxio.security.CurrentUser;
import alluxio.security.User;
import io.posixgateway.alluxio.store.StoreOptions;
import java.util.Set;
import javax.security.auth.Subject;

/**
 * As whom a volume calls Alluxio.
 *
 * <p>Alluxio's client acts for another user only where a program of Hadoop has logged that one in, and leaves alone the name that {@code
 * alluxio.security.login.impersonation.username} gives. Here that name is the one of such a program.
 *
 * @param subject whom connections authenticate
 * @param user who owns what the volume makes
 */
record Login(Subject subject, String user) {
    private static final PropertyKey IMPERSONATED = PropertyKey.SECURITY_LOGIN_IMPERSONATION_USERNAME;
    private static final String OF_HADOOP = "_HDFS_USER_";
    private static final Set<String> NOBODY = Set.of("_NONE_", OF_HADOOP);

    /**
     * @param configuration of the volume; has connections act for the user it names
     * @throws IllegalArgumentException the volume is to act for somebody of whom nothing is known here
     */
    static Login of(StoreOptions options, InstancedConfiguration configuration) {
        if (OF_HADOOP.equals(options.properties().get(IMPERSONATED.getName()))) {
            throw new IllegalArgumentException(
                    IMPERSONATED.getName() + "=" + OF_HADOOP
                            + " stands for the user of a Hadoop program, which a mount is not: give the name of an Alluxio user");
        }
        Subject subject = new Subject();
        String self = options.user().isEmpty() ? System.getProperty("user.name", "") : options.user();
        String impersonated = configuration.getString(IMPERSONATED);
        if (NOBODY.contains(impersonated)) {
            if (!options.user().isEmpty()) {
                subject.getPrincipals().add(new User(self));
            }
            return new Login(subject, self);
        }
        String login = configuration.isSet(PropertyKey.SECURITY_LOGIN_USERNAME)
                ? configuration.getString(PropertyKey.SECURITY_LOGIN_USERNAME)
                : self;
        subject.getPrincipals().add(new User(login));
        subject.getPrincipals().add(new CurrentUser(impersonated));
        configuration.set(IMPERSONATED, OF_HADOOP, Source.RUNTIME);
        return new Login(subject, impersonated);
    }
}
