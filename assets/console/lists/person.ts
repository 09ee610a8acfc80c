import type { PersonErased, PersonExported } from '../../../client/vault/wire.ts';
import { answerInto, notDone } from '../answer.ts';
import type { Api } from '../api.ts';
import { confirmed } from '../confirm.ts';
import { make } from '../dom.ts';
import { formatCount } from '../format.ts';
import { saveText } from './export.ts';

/** The person, as the API names one. */
type Whom = { readonly registration: number } | { readonly identifier: string };

/** Exports or erases a person's stored data. `onErased` is called after an erasure. */
export function personPart(api: Api, whom: Whom, onErased: (said: Node) => void = () => undefined): HTMLElement {
  const said = make('output', { id: 'person-answer' });
  const keep = make('button', { type: 'button', id: 'person-export' }, 'Export what is stored');
  const erase = make('button', { type: 'button', id: 'person-erase', class: 'danger' }, 'Erase …');
  keep.addEventListener('click', () => void answerInto(said, () => exportPerson(api, whom)));
  erase.addEventListener('click', () => void answerInto(said, () => erasePerson(api, whom, onErased)));
  return make(
    'section',
    { class: 'group for-operators' },
    make('h3', {}, 'The person'),
    make(
      'p',
      { class: 'note' },
      'Check first that the request is by the person: have them prove the address or the passkey.',
    ),
    make('div', { class: 'toolbar' }, keep, erase),
    said,
  );
}

async function exportPerson(api: Api, whom: Whom): Promise<Node> {
  const tables: Record<string, { readonly about: string; readonly rows: readonly unknown[] }> = {};
  let person: object = {};
  for (let after: string | null = ''; after !== null; ) {
    const asked = { ...whom, ...(after === '' ? {} : { after }) };
    const { tables: found, next, ...rest } = (await api.post('person/export', asked)) as PersonExported;
    for (const { table, about, rows } of found)
      tables[table] = { about, rows: [...(tables[table]?.rows ?? []), ...rows] };
    person = rest;
    after = next;
  }
  const name = 'registration' in whom ? `person-${whom.registration}.json` : 'person.json';
  saveText(JSON.stringify({ format: 'vault-person-1', ...person, tables }, null, 2), name);
  return make('p', { class: 'done' }, `Saved ${name}, for the person. The audit channel has a record.`);
}

async function erasePerson(api: Api, whom: Whom, onErased: (said: Node) => void): Promise<Node> {
  const plan = (await api.post('person/erase', { ...whom, dryRun: true })) as PersonErased;
  const rows = (erasure: string) =>
    formatCount(plan.tables.reduce((sum, one) => sum + (one.erasure === erasure ? one.rows : 0), 0));
  if (plan.tables.every(({ rows: found }) => found === 0))
    return make('p', { class: 'note' }, 'Nothing is stored of this person.');
  const waiting = plan.waiting === 0 ? '' : ' Some rows keep an address until a recovery is over: erase again then.';
  const isSure = await confirmed({
    title: 'Erase this person?',
    text: `What is stored of ${plan.identifiers.map(nameOf).join(', ')}, in rows: ${rows('removed')} removed, ${rows('unlinked')} kept without the address, ${rows('stays')} kept. What is on the chain stays, and the passkey still works there.${waiting} This cannot be undone.`,
    action: 'Erase the person',
  });
  if (!isSure) return notDone();
  const { waiting: left } = (await api.post('person/erase', whom)) as PersonErased;
  const words = left === 0 ? 'Erased.' : `Erased, but ${formatCount(left)} rows wait for the end of a recovery.`;
  const said = make('p', { class: 'done' }, `${words} The audit channel has a record.`);
  onErased(said);
  return said.cloneNode(true);
}

/** `email:alice@example.com` without its channel. */
function nameOf(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}
