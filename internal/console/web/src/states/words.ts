// count is a number with its noun, in one of two forms.
export function count(n: number, one: string, many: string): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`
}

// The names of programs are written in lower case at the start of a sentence, too.
const programs = /^(tabard|kubectl|kube-apiserver|helm|aws|oc)(?![\w-])/

// sentence begins with a capital and ends with a full stop. The server's texts may be parts of one. What
// begins with no word stays as it is, such as an ARN, a path, a code or a command.
export function sentence(text: string): string {
  const begun = programs.test(text) ? text : text.replace(/^[a-z](?=[a-z'-]*(\s|[,;.:?!](\s|$)|$))/, (letter) => letter.toUpperCase())
  return /[.!?:]$/.test(begun) || begun === '' ? begun : `${begun}.`
}

// isCommand is whether a text is something to type.
export function isCommand(text: string): boolean {
  return /^(tabard|kubectl|oc|aws) /.test(text)
}

// timeInWords says the zone, too: who reads it compares it with the times of a cluster.
export function timeInWords(time: string): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? time : date.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'long' })
}

// ageInWords is how long ago something was, in milliseconds.
export function ageInWords(age: number): string {
  const minutes = Math.round(age / 60_000)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 120) return count(minutes, 'minute', 'minutes')
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24).toLocaleString('en')} days`
}

// clockInWords is a time of this day by the clock, and another one with its day.
export function clockInWords(time: string): string {
  const date = new Date(time)
  if (date.toDateString() !== new Date().toDateString()) return timeInWords(time)
  return date.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' })
}
