import { useEffect, useRef, type MouseEvent } from 'react'
import { Alert, List, ListItem } from '@patternfly/react-core'
import { count } from './words'

// FormError is what is wrong with the field of an id.
export interface FormError { id: string; text: string }

export function errorOf(errors: FormError[], id: string): string | undefined {
  return errors.find((error) => error.id === id)?.text
}

// stillWrong are those of the errors that a person has not mended since.
export function stillWrong(errors: FormError[], now: FormError[]): FormError[] {
  return errors.filter(({ id }) => now.some((error) => error.id === id))
}

interface Props { errors: FormError[]; sent?: FormError[]; level?: 'h2' | 'h3' }

// FormErrors says all that is wrong with a form. It has the focus each time the form was sent with
// something wrong, and not while it is mended.
export function FormErrors({ errors, sent = errors, level = 'h3' }: Props) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (sent.length > 0) place.current?.focus()
  }, [sent])
  if (errors.length === 0) return null
  return (
    <div ref={place} tabIndex={-1} role="group" aria-label="What is wrong">
      <Alert variant="danger" isInline component={level} title={`Mend ${count(errors.length, 'thing', 'things')} to go on`}>
        <List isPlain>
          {errors.map(({ id, text }) => <ListItem key={id}><a href={`#${id}`} onClick={(event) => toField(event, id)}>{text}</a></ListItem>)}
        </List>
      </Alert>
    </div>
  )
}

// The address keeps what it says: a fragment would be one more step back.
function toField(event: MouseEvent, id: string) {
  event.preventDefault()
  document.getElementById(id)?.focus()
}
