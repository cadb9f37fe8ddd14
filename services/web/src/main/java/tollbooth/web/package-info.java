/**
 * What every Spring service of the lab shares: settings, the clients for its peers, the ready file.
 * No telemetry.
 */
package tollbooth.web;
