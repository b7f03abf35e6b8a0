package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.transport.Exchange;

/** Negotiates with the kernel. */
@FunctionalInterface
public interface InitHandler {
    /** Reads the INIT request and puts the reply; returns the bytes of its body, or a negative errno. */
    int init(Exchange exchange);
}
