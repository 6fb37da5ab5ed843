import type { ReactNode } from 'react'
import { FormGroup, FormHelperText, HelperText, HelperTextItem, TextArea, TextInput } from '@patternfly/react-core'

interface Props {
  id: string
  label: string
  value: string
  onChange: (value: string) => void
  error?: string
  help?: ReactNode
  isRequired?: boolean
  // A field of several lines.
  rows?: number
}

// Field is a text to fill in. What is said of it, it is described by.
export function Field({ id, label, value, onChange, error, help, isRequired, rows }: Props) {
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ') || undefined
  const common = {
    id, value, isRequired, 'aria-describedby': described, 'aria-invalid': Boolean(error), validated: error ? 'error' as const : 'default' as const,
    spellCheck: false, autoComplete: 'off',
  }
  return (
    <FormGroup label={label} fieldId={id} isRequired={isRequired}>
      {rows === undefined
        ? <TextInput {...common} onChange={(_event, next) => onChange(next)} />
        : <TextArea {...common} rows={rows} resizeOrientation="vertical" onChange={(_event, next) => onChange(next)} />}
      <FormHelperText>
        <HelperText>
          {help && <HelperTextItem id={`${id}-help`}>{help}</HelperTextItem>}
          {error && <HelperTextItem id={`${id}-error`} variant="error">{error}</HelperTextItem>}
        </HelperText>
      </FormHelperText>
    </FormGroup>
  )
}
