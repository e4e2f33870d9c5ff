/**
 * Parts that the first page and most other pages need. Imported by the first script, because one
 * file compresses better than twenty small files.
 */
import '../format/calls-behind.ts'
import '../format/figures.ts'
import '../format/group-name.ts'
import '../format/times.ts'
import '../format/time-range.ts'
import '../format/usage-measures.ts'
import '../ui/card.tsx'
import '../ui/charts/chart-panel.tsx'
import '../ui/charts/fill-steps.ts'
import '../ui/charts/use-paints.ts'
import '../ui/links.tsx'
import '../ui/moment.tsx'
import '../ui/move-among-tabs.ts'
import '../ui/query-boundary.tsx'
import '../ui/range-picker.tsx'
import '../ui/sums-error.tsx'
import '../ui/use-exhausted.ts'
import '../ui/use-settled.ts'
