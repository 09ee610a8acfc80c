// The screens of the shop. Only text is written, never HTML.
import { element, showOne, step, toggle, write } from '../../../assets/wallet/view.ts';

export {
  beginIn,
  copyOnPress,
  element,
  fault,
  field,
  onCode,
  onPress,
  onSubmit,
  step,
  toggle,
  write,
  writeAddress,
} from '../../../assets/wallet/view.ts';

const PARTS = ['loading', 'start', 'code', 'working', 'money', 'pay', 'waiting', 'receipt', 'problem'] as const;

/** A screen. */
export type Part = (typeof PARTS)[number];

/** The step at the top to which a screen belongs; a receipt is behind them all. */
const WAY: Readonly<Partial<Record<Part, string>>> = {
  start: 'way-who',
  code: 'way-who',
  working: 'way-who',
  money: 'way-money',
  pay: 'way-pay',
  waiting: 'way-pay',
};

/** Shows one screen and moves keyboard and screen reader to its heading. */
export function show(part: Part): void {
  const place = WAY[part];
  if (place !== undefined || part === 'receipt') step(['way-who', 'way-money', 'way-pay'], place);
  toggle('cart', part !== 'receipt');
  showOne(PARTS, part);
  scrollTo(0, 0);
}

/** Shows what went wrong, and a button that mends it. */
export function showProblem({ title, words, button }: Record<'title' | 'words' | 'button', string>): void {
  write('problem-title', title);
  write('problem-words', words);
  write('problem-go', button);
  show('problem');
}

/** Does something while its button turns and takes no second press. */
export async function busy<T>(id: string, act: () => Promise<T>): Promise<T> {
  const button = element<HTMLButtonElement>(id);
  button.disabled = true;
  button.setAttribute('aria-busy', 'true');
  try {
    return await act();
  } finally {
    button.disabled = false;
    button.removeAttribute('aria-busy');
  }
}
