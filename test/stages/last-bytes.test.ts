import { test } from 'bun:test'
import { CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import { stream } from '../support/scripted-upstream.ts'
import { CHAT_USAGE, chatBody, runRow } from '../support/stage-rows.ts'

test.each([
  ['a comment', ': bye\n\n'],
  ['a comment whose blank line may still go on', ': bye\r\r'],
  ['one line end', '\n'],
])('%s behind the last event is passed on', (_what, behind) => {
  const sent = CHAT_STREAM_WITH_USAGE.join('') + behind
  return runRow({
    request: { body: chatBody({ stream: true, stream_options: { include_usage: true } }) },
    upstream: [stream([sent])],
    seen: { status: 200, text: sent },
    sent: [{}],
    settled: { outcome: 'succeeded', status: 200, errorKind: null, usage: CHAT_USAGE },
  })
})
