import { ApiError } from './api.ts';
import { byId, definitions, make } from './dom.ts';
import { formatValue } from './format.ts';

/** Runs what a form asks for and shows the answer, or in words why there is none, where the form says. */
export async function answerInto(place: Element, ask: () => Promise<Node>): Promise<void> {
  place.setAttribute('aria-busy', 'true');
  try {
    place.replaceChildren(await ask());
  } catch (error) {
    place.replaceChildren(make('p', { class: 'failure' }, explain(error)));
  } finally {
    place.removeAttribute('aria-busy');
  }
}

/** What a refusal means to the person at the page. */
export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The page failed to read the answer.';
  if (error.status === 0) return 'The vault does not answer. Check that it runs and that you can reach it from here.';
  return SENTENCES[error.message] ?? `The vault refused: ${formatValue(error.message)}`;
}

const SENTENCES: Readonly<Record<string, string>> = {
  operator_unauthorized: 'That is not the operator secret of this vault.',
  rate_limited: 'Too many attempts from here. Wait a minute.',
  not_found: 'Nothing found.',
  internal_error: 'The vault failed. Its log says why.',
};

/** Any JSON value, members by name, nested ones indented. */
export function render(value: unknown): Node {
  if (Array.isArray(value)) return make('ol', { class: 'answers' }, ...value.map((one) => make('li', {}, render(one))));
  if (value === null || typeof value !== 'object') return document.createTextNode(formatValue(value));
  return definitions(Object.entries(value).map(([name, member]) => [name.replaceAll('_', ' '), render(member)]));
}

/** Runs a form: its answer goes to the element named after it; `button` is the value of the one that was pressed. */
export function onSubmit(id: string, read: (form: HTMLFormElement, button: string) => () => Promise<Node>): void {
  const form = byId(id, HTMLFormElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const button = event.submitter instanceof HTMLButtonElement ? event.submitter.value : '';
    void answerInto(byId(`${id}-answer`), read(form, button));
  });
}

/** What stands in a form's field, without white space around it. */
export function field(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? '').trim();
}
