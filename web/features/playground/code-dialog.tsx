/** The conversation as code to paste. Fetched when it is first asked for. */
import { SnippetTabs } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import type { ChatRequest } from './conversation.ts'
import { writeCode } from './write-code.ts'

export function CodeDialog({
  request,
  onClose,
}: {
  readonly request: ChatRequest
  readonly onClose: () => void
}) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`The conversation with ${request.gate_id} as code`}
      note="Asks the last question again, with everything that was said before it. The key comes from the environment: GATEHOUSE_API_KEY."
      width="wide"
    >
      <SnippetTabs label="Language" snippets={writeCode(request, location.origin)} />
    </Dialog>
  )
}
