import { choice, count, defineSetting, type ListType, milliseconds, text } from '../setting-type.ts'

/** `*` alone would match every header, so a name has at least two letters. */
const headers: ListType = {
  type: 'list',
  of: 'names of headers',
  accepts: (name) => /^[a-z0-9_-]{2,64}\*?$/i.test(name),
}

export const proxySettings = {
  HTTPS_PROXY: defineSetting(text, {
    without: 'none',
    sentence: 'HTTP proxy for calls to https upstreams, as in curl, in upper or lower case',
    note: 'Its own address has to be `http://…`. No proxy is ever used for this machine itself',
  }),
  HTTP_PROXY: defineSetting(text, {
    without: 'none',
    sentence: 'the same for http upstreams',
  }),
  ALL_PROXY: defineSetting(text, { without: 'none', sentence: 'the same for both' }),
  NO_PROXY: defineSetting(text, {
    without: 'none',
    sentence: 'hosts that are reached without a proxy, separated by commas',
  }),
}

export const upstreamSettings = {
  GATEHOUSE_CONNECT_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 5_000,
    sentence: 'time for an upstream to accept a connection',
  }),
  GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 600_000,
    sentence: 'time for an upstream to begin its answer',
    note: 'A reasoning model may think for minutes',
  }),
  GATEHOUSE_IDLE_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 300_000,
    sentence: 'longest silence within an answer',
  }),
  GATEHOUSE_TOTAL_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 3_600_000,
    sentence: 'longest time for a whole call',
    note: 'A gate can set a shorter `timeoutMs`',
  }),
  GATEHOUSE_PROBE_TIMEOUT_MS: defineSetting(milliseconds(1_000, 600_000), {
    default: 60_000,
    sentence: 'time for an owned model to answer when it is registered or checked',
    note: 'It may have to be loaded first ([the probe](guides/owned-models.md#the-probe))',
  }),
  GATEHOUSE_UPSTREAM_IDLE_MS: defineSetting(milliseconds(), {
    default: 30_000,
    sentence: 'how long an idle upstream connection is kept',
    note: 'Shorter when the upstream says so ([0043](decisions/0043-calls-go-over-sockets.md))',
  }),
  GATEHOUSE_UPSTREAM_MAX_IDLE: defineSetting(count(0, 65_535), {
    default: 2_048,
    sentence: 'how many idle connections are kept per upstream',
  }),
  GATEHOUSE_DEFAULT_ACCOUNT: defineSetting(choice(['operator', 'tenant']), {
    default: 'operator',
    isShared: true,
    sentence: "owner of the installation's first account: the operator, or a customer",
    note:
      "The account is `acct_default`. The operator's calls may name objects in the platform's " +
      'accounts at providers ([0094](decisions/0094-ids-are-recognised-by-their-place.md))',
  }),
  GATEHOUSE_OPERATOR_API: defineSetting(choice(['off', 'on']), {
    default: 'off',
    isShared: true,
    sentence: 'on: the operator may set prices of models without one while the server runs',
    note: '[Without the file](guides/prices.md#without-the-file)',
  }),
  GATEHOUSE_TRUSTED_HOSTS: defineSetting(
    { type: 'list', of: 'hosts' },
    {
      without: 'none',
      sentence:
        'internal hosts for owned models, webhooks, token endpoints: host[:port], ' +
        '*.suffix, address or range',
      note: '[Owned models](guides/owned-models.md)',
    },
  ),
  GATEHOUSE_FORWARD_REQUEST_HEADERS: defineSetting(headers, {
    without: 'none',
    sentence: "request headers that are forwarded besides each dialect's own; a name may end in *",
    note: '[0029](decisions/0029-headers-by-lists.md)',
  }),
  GATEHOUSE_FORWARD_ANSWER_HEADERS: defineSetting(headers, {
    without: 'none',
    sentence: "answer headers that are forwarded besides each dialect's own; a name may end in *",
    note: '[0029](decisions/0029-headers-by-lists.md)',
  }),
  ...proxySettings,
}
