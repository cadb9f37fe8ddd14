/**
 * A proxy on one event loop whose span exporter is asynchronous, waited for on the loop, or on a
 * thread of its own behind a mutex.
 */
package tollbooth.exportermodel;
