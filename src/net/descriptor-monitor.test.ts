import { expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { monitorDescriptors } from './descriptor-monitor.ts'

test('the process is crowded while four fifths of its file descriptors are open, and no longer', async () => {
  const clock = new ScriptedClock()
  let open = 79
  const reported: boolean[] = []
  const monitor = monitorDescriptors({
    clock,
    figures: { most: 100, count: () => open },
    onChange: (isCrowded, figures) => {
      reported.push(isCrowded)
      expect(figures).toEqual({ open, most: 100 })
    },
  })
  const seen: boolean[] = []
  for (open of [79, 80, 100, 79, 10]) {
    await clock.advance(1_000)
    seen.push(monitor.isCrowded)
  }
  expect(seen).toEqual([false, true, true, false, false])
  expect(reported).toEqual([true, false])
  monitor.close()
  expect(clock.pending).toBe(0)
})
