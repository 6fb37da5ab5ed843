import { useRef } from 'react'
import { ClipboardCopy } from '@patternfly/react-core'
import { useCopy } from './useCopy'

interface Props { command: string; label?: string }

// Command is a command to type. Every page has the one that shows the same.
export function Command({ command, label = 'The command that shows the same' }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const { said, copy } = useCopy()
  return (
    <div ref={place} className="tabard-command">
      <span>{label}: </span>
      <ClipboardCopy
        variant="inline-compact"
        isCode
        isReadOnly
        hoverTip="Copy"
        clickTip={said || 'Copied'}
        copyAriaLabel={`Copy the command ${command}`}
        onCopy={() => void copy(command, place.current?.querySelector('.pf-v6-c-clipboard-copy__text'))}
      >
        {command}
      </ClipboardCopy>
    </div>
  )
}
