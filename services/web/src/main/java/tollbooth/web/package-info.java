/**
 * What every Spring service of the lab shares: settings, the client for its peers, the ready file.
 * No telemetry.
 */
package tollbooth.web;
