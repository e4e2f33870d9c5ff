import { expect, test } from 'bun:test'
import { nameWithReason } from '../test/support/skip-unless.ts'
import { closingLine, readJunit } from './test-counts.ts'

const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="4" failures="1" skipped="1">
  <testsuite name="a.test.ts" file="a.test.ts">
    <testcase name="ok > fine" classname="" time="0.1" file="a.test.ts" line="2" />
    <testsuite name="group">
      <testcase name="bad &lt;x&gt;" classname="g &amp; h" file="a.test.ts" line="3">
        <failure type="Error" message="&lt;skipped /&gt; -> &quot;b&quot;&#10;&#10;- 1">boom</failure>
      </testcase>
      <testcase name="later" classname="g &amp; h" file="b.test.ts" line="4">
        <skipped />
      </testcase>
    </testsuite>
    <testcase name="last" classname="" file="b.test.ts" />
  </testsuite>
</testsuites>`

test('passed, failed and skipped tests are counted apart', () => {
  const { counts, files, skipped } = readJunit(report)
  expect(counts).toEqual({ passed: 2, failed: 1, skipped: 1 })
  expect([...files]).toEqual(['a.test.ts', 'b.test.ts'])
  expect(skipped).toEqual([{ name: 'b.test.ts: g & h > later', reason: undefined }])
})

test('a failed test is reported by file, group and name, with its message', () => {
  expect(readJunit(report).failures).toEqual([
    {
      name: 'a.test.ts: g & h > bad <x>',
      message: '<skipped /> -> "b"\n\n- 1',
      file: 'a.test.ts',
    },
  ])
  const timedOut =
    '<testcase name="late" classname="" file="c.test.ts"><failure type="TimeoutError" message="test timed out" /></testcase>'
  expect(readJunit(timedOut).failures).toEqual([
    { name: 'c.test.ts: late', message: 'test timed out', file: 'c.test.ts' },
  ])
})

test.each([
  ['', nameWithReason('helm renders', 'needs helm (v3)'), 'a.test.ts: helm renders'],
  [nameWithReason('helm', 'needs helm (v3)'), 'renders', 'a.test.ts: helm > renders'],
  [
    `on disk > ${nameWithReason('helm', 'needs helm (v3)')} > whole`,
    'one',
    'a.test.ts: on disk > helm > whole > one',
  ],
])('a skipped test has its reason, from its name or from its group (%s)', (group, name, told) => {
  const escaped = (text: string) => text.replaceAll('>', '&gt;')
  const testcase = `<testcase name="${name}" classname="${escaped(group)}" file="a.test.ts"><skipped /></testcase>`
  expect(readJunit(testcase).skipped).toEqual([{ name: told, reason: 'needs helm (v3)' }])
})

test('an absent report counts nothing', () => {
  expect(readJunit('').counts).toEqual({ passed: 0, failed: 0, skipped: 0 })
})

test('the closing line names skipped tests only when there are any', () => {
  expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
  expect(closingLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
})
