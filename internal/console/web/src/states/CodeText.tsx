import { useId } from 'react'
import { ClipboardCopyButton, CodeBlock, CodeBlockAction, CodeBlockCode } from '@patternfly/react-core'
import { useCopy } from './useCopy'

// CodeText is a text to copy, which scrolls by itself.
export function CodeText({ text, name }: { text: string; name: string }) {
  const { said, copy } = useCopy()
  const id = useId()
  return (
    <CodeBlock actions={(
      <CodeBlockAction>
        <ClipboardCopyButton id={`copy-${id}`} textId={`text-${id}`} aria-label={`Copy ${name}`} onClick={() => void copy(text, document.getElementById(`text-${id}`))} variant="plain">
          {said || 'Copy'}
        </ClipboardCopyButton>
      </CodeBlockAction>
    )}
    >
      <CodeBlockCode id={`text-${id}`} tabIndex={0}>{text}</CodeBlockCode>
    </CodeBlock>
  )
}
