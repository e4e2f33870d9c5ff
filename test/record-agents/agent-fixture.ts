/** What a file of `test/fixtures/agents/` holds: the requests that an agent sent. */

export interface AgentFixture {
  readonly agent: string
  readonly version: string
  readonly calls: readonly AgentCall[]
}

export interface AgentCall {
  /** Which of the agent's runs sent it: a model or a dialect. */
  readonly run: string
  /** `later`: tools have answered, and stand in the history. */
  readonly turn: 'opening' | 'later'
  readonly path: string
  /** Without those of the connection and without credentials. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
