import { ClipboardCopy } from '@patternfly/react-core'

interface Props { command: string; label?: string }

// Command is a command to type. Every page has the one that shows the same.
export function Command({ command, label = 'The command that shows the same' }: Props) {
  return (
    <div className="tabard-command">
      <span>{label}: </span>
      <ClipboardCopy variant="inline-compact" isCode isReadOnly hoverTip="Copy" clickTip="Copied" copyAriaLabel={`Copy the command ${command}`}>
        {command}
      </ClipboardCopy>
    </div>
  )
}
