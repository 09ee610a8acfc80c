import { answerInto } from '../answer.ts';
import type { Api } from '../api.ts';
import { confirmed } from '../confirm.ts';
import { make } from '../dom.ts';
import type { Registration } from './rows.ts';

/** The button that fails a live registration, and gives back what it took over; null for a failed one. */
export function undoPart(api: Api, { id, status }: Registration, onUndone: (said: Node) => void): HTMLElement | null {
  if (status === 'failed') return null;
  const said = make(
    'p',
    { class: 'note', role: 'status' },
    'Undoing fails it for good, and gives back what it took over.',
  );
  const button = make('button', { type: 'button', class: 'danger', id: 'undo' }, 'Undo this registration');
  button.addEventListener('click', async () => {
    const isSure = await confirmed({
      title: `Undo registration ${id}?`,
      text: 'It fails, and the former holder has the identifier again. This cannot be undone.',
      action: 'Undo the registration',
    });
    if (isSure) await answerInto(said, () => undo(api, id, onUndone));
  });
  return make('section', { class: 'group for-operators' }, said, button);
}

async function undo(api: Api, id: number, onUndone: (said: Node) => void): Promise<Node> {
  const { holder } = (await api.post('registrations/undo', { id })) as { holder: { id: number; did: string } | null };
  const now = holder === null ? 'Nobody holds' : `Registration ${holder.id} (${holder.did}) holds`;
  const said = make('p', { class: 'done', role: 'status' }, `Undone. ${now} the identifier now.`);
  onUndone(said);
  return said.cloneNode(true);
}
