/** The log's levels. Does not know whether the environment or the configuration file sets them. */

export const LOG_LEVELS = ['info', 'trace', 'debug', 'warn', 'error', 'silent'] as const
