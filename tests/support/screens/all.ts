import { accountScreens, statementScreens } from './account.ts';
import { approveScreens } from './approve.ts';
import { knownScreens, newcomerScreens } from './authorize.ts';
import { confirmScreens } from './confirm.ts';
import { consoleScreens } from './console.ts';
import type { Screen, World } from './screen.ts';
import { toldScreens } from './told.ts';

const PAGES = [
  toldScreens,
  newcomerScreens,
  knownScreens,
  accountScreens,
  confirmScreens,
  approveScreens,
  statementScreens,
  consoleScreens,
];

/** The screens of every page, one after the other. */
export function allScreens(world: World): readonly Screen[] {
  return PAGES.flatMap((listOf) => listOf(world));
}
