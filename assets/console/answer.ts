import { ApiError } from './api.ts';
import { byId, make } from './dom.ts';
import { formatValue } from './format.ts';

/** Runs a form's request and shows the answer, or the reason for a failure, in `place`. */
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

/** An error as a sentence for the operator. */
export function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The page failed to read the answer.';
  if (error.status === 0) return 'The vault does not answer. Check that it runs and that you can reach it from here.';
  return SENTENCES[error.message] ?? `The vault refused: ${formatValue(error.message)}`;
}

const SENTENCES: Readonly<Record<string, string>> = {
  operator_unauthorized: 'That is not the operator secret of this vault, and not a token that is good.',
  operator_role: 'Your role does not allow that. Ask for a token with --role operator.',
  operator_exists: 'A token of this name is still good: revoke it first.',
  rate_limited: 'Too many attempts from here. Wait a minute.',
  not_found: 'Nothing found.',
  internal_error: 'The vault failed. Its log says why.',
};

/** An action's answer where nothing was done. */
export function notDone(): Node {
  return make('p', { class: 'note' }, 'Nothing was changed.');
}

/** Handles a form: its answer goes to `#<id>-answer`; `button` is the value of the pressed button. */
export function onSubmit(id: string, read: (form: HTMLFormElement, button: string) => () => Promise<Node>): void {
  const form = byId(id, HTMLFormElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const button = event.submitter instanceof HTMLButtonElement ? event.submitter.value : '';
    void answerInto(byId(`${id}-answer`), read(form, button));
  });
}

/** The value of a form's field, trimmed. */
export function field(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? '').trim();
}
