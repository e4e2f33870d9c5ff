/**
 * What a model wrote, as text: lines are kept, fenced code is set apart, and nothing of it becomes
 * HTML.
 */
import { memo } from 'react'
import { CodeBlock } from '../../ui/code-block.tsx'
import { splitFences } from './split-fences.ts'

export const AnswerText = memo(function AnswerText({ text }: { readonly text: string }) {
  return (
    <div className="flex flex-col gap-3">
      {splitFences(text).map((segment, index) =>
        segment.type === 'code' ? (
          <CodeBlock
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text only grow at its end
            key={index}
            code={segment.text}
            label={`${segment.language || 'code'} ${index + 1}`}
          />
        ) : (
          <p
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            key={index}
            className="text-sm leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap text-ink"
          >
            {segment.text}
          </p>
        ),
      )}
    </div>
  )
})
