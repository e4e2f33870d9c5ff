/**
 * The groups of operations, in the order in which a reader should meet them. Without a text here,
 * their resource describes them. A group without a line comes last.
 */
export const TAGS: readonly { readonly name: string; readonly description?: string }[] = [
  {
    name: 'Inference',
    description:
      'Calls through a gate, in the formats that SDKs speak. The body decides on streaming ' +
      '(`stream`), never `accept`. ' +
      'Each path takes one method: another is 405 with `allow`, a WebSocket upgrade 426.',
  },
  { name: 'Gates' },
  {
    name: 'API keys',
    description:
      'Every key has full access to its account. A key is shown once and stored as a hash.',
  },
  {
    name: 'Provider keys',
    description:
      "The account's own credentials for providers, one each, encrypted at rest and used " +
      "before the gateway's. They never come out again.",
  },
  {
    name: 'Owned models',
    description:
      'Models that the account hosts or pays for itself, addressed as `owned/SLUG` in the ' +
      'targets of a gate.',
  },
  { name: 'Logs', description: 'One row for each call: what was used, never what was said.' },
  { name: 'Analytics', description: 'What the calls of the account add up to.' },
  { name: 'Costs', description: 'Whether the costs in the log are right.' },
  { name: 'Audit log', description: 'Who changed what in the account, before and after.' },
  {
    name: 'Account',
    description: 'The plan of the account, its limits, and how much of them is used.',
  },
  { name: 'Budgets' },
  { name: 'Webhooks' },
  {
    name: 'Providers',
    description: 'Who can stand behind a gate, and what each endpoint loses on the way there.',
  },
  { name: 'Sign-in', description: 'Users and their sessions, for the browser.' },
  { name: 'Members', description: 'Who belongs to the account.' },
  { name: 'Service', description: 'The gateway itself. Needs no key.' },
]
