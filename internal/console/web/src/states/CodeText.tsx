import { useId, useState } from 'react'
import { ClipboardCopyButton, CodeBlock, CodeBlockAction, CodeBlockCode } from '@patternfly/react-core'

// CodeText is a text to copy, which scrolls by itself.
export function CodeText({ text, name }: { text: string; name: string }) {
  const [copied, setCopied] = useState(false)
  const id = useId()
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true))
  return (
    <CodeBlock actions={(
      <CodeBlockAction>
        <ClipboardCopyButton id={`copy-${id}`} textId={`text-${id}`} aria-label={`Copy ${name}`} onClick={copy} variant="plain">
          {copied ? 'Copied' : 'Copy'}
        </ClipboardCopyButton>
      </CodeBlockAction>
    )}
    >
      <CodeBlockCode id={`text-${id}`} tabIndex={0}>{text}</CodeBlockCode>
    </CodeBlock>
  )
}
