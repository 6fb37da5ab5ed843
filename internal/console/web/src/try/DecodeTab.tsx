import { useEffect, useLayoutEffect, useRef, useState, type FormEvent } from 'react'
import { ActionGroup, Button, Form, Stack } from '@patternfly/react-core'
import type { Decoded } from '../api/types'
import { useAsk } from '../api/useAsk'
import { announce } from '../shell/announce'
import { Field } from '../states/Field'
import { errorOf, FormErrors, stillWrong, type FormError } from '../states/FormErrors'
import { ProblemAlert } from '../states/ProblemAlert'
import { DecodedView, decodedInWords } from './DecodedView'

export function DecodeTab({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [sent, setSent] = useState<FormError[]>([])
  const { data, problem, busy, ask, forget } = useAsk<Decoded>()
  const wrong = text.trim() === '' ? [{ id: 'decode-text', text: 'The text is empty' }] : []
  const errors = stillWrong(sent, wrong)
  // What was said of another text must not stay beside this one.
  useLayoutEffect(forget, [text, forget])
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!data) return
    announce(decodedInWords(data))
    place.current?.querySelector('h2')?.focus()
  }, [data])
  const send = (event: FormEvent) => {
    event.preventDefault()
    setSent(wrong)
    if (wrong.length === 0) void ask('try/decode', { text })
  }
  return (
    <Stack hasGutter>
      <p>Paste an error, a line of a log, an event of CloudTrail or a token, and see which link of the chain it is about.</p>
      <FormErrors errors={errors} sent={sent} level="h2" />
      <Form className="tabard-form" onSubmit={send}>
        <Field
          id="decode-text" label="Text" rows={6} isRequired value={text} onChange={onChange} error={errorOf(errors, 'decode-text')}
          help="The console on this computer reads it, and neither keeps it nor sends it on. A token in it is never shown."
        />
        <ActionGroup><Button type="submit" isLoading={busy}>Decode</Button></ActionGroup>
      </Form>
      {problem && <ProblemAlert problem={problem} />}
      <div ref={place}>{data && <DecodedView decoded={data} />}</div>
    </Stack>
  )
}
