import { make } from './dom.ts';

/** A question before an action, and the verb of its button. */
export interface Question {
  readonly title: string;
  /** The result of the action, and that it cannot be undone where that is so. */
  readonly text: string;
  readonly action: string;
}

/** Asks before something that cannot be undone. Escape and Cancel mean no; Cancel has the focus. */
export function confirmed({ title, text, action }: Question): Promise<boolean> {
  const cancel = make('button', { type: 'button', autofocus: '' }, 'Cancel');
  const go = make('button', { type: 'button', class: 'danger' }, action);
  const dialog = make(
    'dialog',
    { class: 'confirm', 'aria-labelledby': 'confirm-title', 'aria-describedby': 'confirm-text' },
    make('h2', { id: 'confirm-title' }, title),
    make('p', { id: 'confirm-text' }, text),
    make('div', { class: 'toolbar' }, cancel, go),
  );
  const opener = document.activeElement;
  document.body.append(dialog);
  return new Promise((resolve) => {
    let isSure = false;
    cancel.addEventListener('click', () => dialog.close());
    go.addEventListener('click', () => {
      isSure = true;
      dialog.close();
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
      resolve(isSure);
    });
    dialog.showModal();
  });
}
