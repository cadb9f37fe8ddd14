/** Code that all Spring services share: settings, clients for peers, ready file. No telemetry. */
package tollbooth.web;
