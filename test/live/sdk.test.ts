/**
 * The SDK scenarios against the real providers: `GATEHOUSE_TEST_LIVE=1` and the providers' keys in
 * the environment. Costs money.
 */
import { afterAll, beforeAll, describe, test } from 'bun:test'
import { Mistral } from '@mistralai/mistralai'
import { createGate } from '../support/control-plane.ts'
import { MISTRAL_SCENARIOS } from '../support/mistral-scenarios.ts'
import { alteredReplay, OPENAI_SCENARIOS, OPENAI_VERSIONS } from '../support/openai-scenarios.ts'
import { describeIf } from '../support/skip-unless.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

const { GATEHOUSE_TEST_LIVE, OPENAI_API_KEY = '', MISTRAL_API_KEY = '' } = process.env
const isLive = GATEHOUSE_TEST_LIVE === '1'
const TIMEOUT_MS = 120_000

let gatehouse: Gatehouse | undefined
beforeAll(async () => {
  if (!isLive) return
  gatehouse = await startGatehouse({ environment: { OPENAI_API_KEY, MISTRAL_API_KEY } })
  await createGate(gatehouse, 'plain', 'openai/gpt-4o-mini')
  await createGate(gatehouse, 'thinker', 'openai/gpt-5-mini')
  await createGate(gatehouse, 'codestral', 'mistral/codestral-latest')
  await createGate(gatehouse, 'mistral', 'mistral/mistral-small-latest')
})
afterAll(() => gatehouse?.remove())

function started(): Gatehouse {
  if (gatehouse === undefined) throw new Error('the live server was not started')
  return gatehouse
}

describeIf(isLive && OPENAI_API_KEY !== '', 'needs GATEHOUSE_TEST_LIVE=1 and OPENAI_API_KEY')(
  'live: OpenAI',
  () => {
    describe.each(OPENAI_VERSIONS)('%s', (_, Sdk) => {
      const open = () => ({
        client: new Sdk({ baseURL: `${started().url}/v1`, apiKey: started().key }),
        gate: 'plain',
        reasoningGate: 'thinker',
      })

      test.each(OPENAI_SCENARIOS)(
        '%s',
        async (_name, scenario) => {
          await scenario(open())
        },
        TIMEOUT_MS,
      )

      test(
        'an altered ciphertext is refused',
        async () => {
          const refused = await alteredReplay(open()).then(
            () => false,
            () => true,
          )
          if (!refused) throw new Error('the altered ciphertext was taken')
        },
        TIMEOUT_MS,
      )
    })
  },
)

describeIf(isLive && MISTRAL_API_KEY !== '', 'needs GATEHOUSE_TEST_LIVE=1 and MISTRAL_API_KEY')(
  'live: Mistral',
  () => {
    test.each(MISTRAL_SCENARIOS)(
      '%s',
      async (_name, scenario) => {
        const client = new Mistral({ apiKey: started().key, serverURL: `${started().url}/alt` })
        await scenario({ client, fimGate: 'codestral', chatGate: 'mistral' })
      },
      TIMEOUT_MS,
    )
  },
)
