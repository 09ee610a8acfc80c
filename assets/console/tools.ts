import { answerInto, field, onSubmit, render } from './answer.ts';
import type { Api } from './api.ts';
import { byId, make, say } from './dom.ts';

interface Found {
  readonly registrations: readonly { readonly id: number; readonly status: string }[];
}

/** The forms that look up registrations and revoke tokens. */
export function createTools(api: Api): { readonly setToken: (cid: string | null) => void } {
  onSubmit('lookup', (form) => {
    const [by, value] = [field(form, 'by'), field(form, 'value')];
    return async () => {
      const found = (await api.get('registrations', { [by]: value })) as Found;
      if (found.registrations.length > 0)
        return make('div', {}, render(found.registrations), ...undoButtons(api, found));
      return make(
        'p',
        { class: 'empty' },
        'No registration found. A session without a registration is in the events of the channel sessions.',
      );
    };
  });
  onSubmit('revoke', (form) => {
    const cid = field(form, 'cid');
    return async () => {
      await api.post('revoke', { cid });
      return make('p', { class: 'done' }, 'Revoked. Streams that use it end within a moment.');
    };
  });
  const own = byId('own-token');
  own.addEventListener('click', () => {
    byId('revoke-cid', HTMLInputElement).value = own.dataset['cid'] ?? '';
    byId('revoke-cid').focus();
  });
  return {
    setToken(cid) {
      own.hidden = cid === null;
      own.dataset['cid'] = cid ?? '';
      say(own, cid === null ? '' : `Fill in this page's own token: ${cid.slice(0, 8)}…${cid.slice(-6)}`);
    },
  };
}

/** A button for each live registration that fails it, and gives back what it took over; it is pressed twice. */
function undoButtons(api: Api, { registrations }: Found): HTMLElement[] {
  const live = registrations.filter(({ status }) => status !== 'failed');
  return live.map(({ id }) => {
    const button = make('button', { type: 'button', class: 'small' }, `Undo registration ${id}`);
    let isSure = false;
    button.addEventListener('click', () => {
      if (isSure) return void answerInto(byId('lookup-answer'), () => undo(api, id));
      isSure = true;
      button.textContent = `Undo registration ${id} for good: press again`;
    });
    return button;
  });
}

async function undo(api: Api, id: number): Promise<Node> {
  const { holder } = (await api.post('registrations/undo', { id })) as { holder: { id: number; did: string } | null };
  const now = holder === null ? 'Nobody holds' : `Registration ${holder.id} (${holder.did}) holds`;
  return make('p', { class: 'done' }, `Undone. ${now} the identifier now.`);
}
