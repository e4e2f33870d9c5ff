/** The port of each server of a run. All servers run at once, so the ports differ. */
export const PORTS = {
  /** Held by the run itself, so that no other run starts. */
  lock: 19_199,
  jsonUpstream: 19_200,
  nginx: 19_201,
  gatehouse: 19_202,
  portkey: 19_203,
  bare: 19_204,
  bareSockets: 19_205,
  litellm: 19_206,
  translating: 19_207,
  streamUpstream: 19_210,
  tlsUpstream: 19_220,
  /** The port of the first program of `PROGRAMS`; the others follow. */
  programs: 19_230,
} as const
