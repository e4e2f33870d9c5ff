/**
 * How much the log may hold. Knows nothing of where that is said: in the environment or in the
 * configuration file.
 */

export const LOG_LEVELS = ['info', 'trace', 'debug', 'warn', 'error', 'silent'] as const
