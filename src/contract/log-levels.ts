/** The log's levels. */

export const LOG_LEVELS = ['info', 'trace', 'debug', 'warn', 'error', 'silent'] as const
