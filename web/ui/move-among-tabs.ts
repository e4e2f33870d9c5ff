/**
 * Which tab a key leads to, as readers of tabs expect it: around the ends by arrows, to the ends by
 * Home and End. Pure.
 */

export function moveAmongTabs(
  key: string,
  { from, count }: { readonly from: number; readonly count: number },
): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return (from + 1) % count
    case 'ArrowLeft':
      return (from - 1 + count) % count
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}
