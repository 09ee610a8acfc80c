// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccountKeys} from "./AccountKeys.sol";

/// @title The way back for who lost all keys
/// @notice Owners may name a guardian. It proposes a new key, which is one after the owners' delay unless an owner vetoed.
/// A proposal ends in one way: finished, vetoed, cancelled, or 30 days after it was ready without any of these.
abstract contract AccountRecovery is AccountKeys {
    uint256 public constant DELAY_MIN = 72 hours;
    uint256 public constant DELAY_MAX = 365 days;
    /// @notice How long a recovery that is ready can be finished.
    uint256 public constant FINISH_TIME = 30 days;
    /// @notice How long two vetoes bar the guardian.
    uint256 public constant BAR_TIME = 30 days;
    uint256 private constant VETOES_TO_BAR = 2;

    /// @param commitment names the identifier that may recover, to the guardian that knows the salt
    event GuardianSet(address indexed guardian, uint32 delay, bytes32 commitment);
    event GuardianBarred(uint40 until);
    event RecoveryProposed(uint32 indexed id, address indexed guardian, uint256 x, uint256 y, uint40 readyAt);
    event RecoveryFinished(uint32 indexed id, uint256 x, uint256 y);
    /// @param vetoes how many there were since the guardian was set, or was barred, or a recovery was finished
    event RecoveryVetoed(uint32 indexed id, uint8 vetoes);
    event RecoveryCancelled(uint32 indexed id);

    error InvalidGuardian();
    error InvalidDelay();
    error NotGuardian();
    error CommitmentDiffers();
    error GuardianIsBarred(uint40 until);
    error RecoveryPending(uint32 id);
    error NoRecovery();
    error RecoveryNotReady(uint40 readyAt);

    /// @notice The guardian and its rules; zeros when there is none. `barredUntil` may be past.
    function getGuardian()
        external
        view
        returns (address guardian, uint32 delay, bytes32 commitment, uint8 vetoes, uint40 barredUntil)
    {
        AccountStorage storage account = _account();
        return (account.guardian, account.delay, account.commitment, account.vetoes, account.barredUntil);
    }

    /// @notice The pending recovery; zeros when there is none.
    function getRecovery() public view returns (uint32 id, uint256 x, uint256 y, uint40 readyAt, bytes32 label) {
        AccountStorage storage account = _account();
        if (!_isPending(account)) return (0, 0, 0, 0, 0);
        return (account.recoveryId, account.recoveryX, account.recoveryY, account.readyAt, account.recoveryLabel);
    }

    /// @notice Proposes a P-256 key, which `finishRecovery` adds after the delay. The guardian only, while it is not barred
    /// and none is pending.
    /// @param commitment the owners' present one, so that no proposal comes after they have changed who may recover
    /// @return id names the proposal in a veto
    function proposeRecovery(uint256 x, uint256 y, bytes32 label, bytes32 commitment) external returns (uint32 id) {
        AccountStorage storage account = _account();
        // A call from the zero address can be simulated, and is nobody's guardian.
        if (msg.sender == address(0) || msg.sender != account.guardian) revert NotGuardian();
        if (commitment != account.commitment) revert CommitmentDiffers();
        if (block.timestamp < account.barredUntil) revert GuardianIsBarred(account.barredUntil);
        if (_isPending(account)) revert RecoveryPending(account.recoveryId);
        if (y == 0) revert InvalidKey();
        _checkNewKey(x, y);
        id = ++account.recoveryId;
        uint40 readyAt = uint40(block.timestamp) + account.delay;
        account.readyAt = readyAt;
        (account.recoveryX, account.recoveryY, account.recoveryLabel) = (x, y, label);
        emit RecoveryProposed(id, msg.sender, x, y, readyAt);
    }

    /// @notice Makes the proposed key one of the account's, unless owners added it meanwhile. Anyone, from `readyAt` and for
    /// `FINISH_TIME`.
    function finishRecovery() external {
        (uint32 id, uint256 x, uint256 y, uint40 readyAt, bytes32 label) = getRecovery();
        if (id == 0) revert NoRecovery();
        if (block.timestamp < readyAt) revert RecoveryNotReady(readyAt);
        AccountStorage storage account = _account();
        _clearRecovery(account);
        account.vetoes = 0;
        if (!isKey(x, y)) _addKey(x, y, label);
        emit RecoveryFinished(id, x, y);
    }

    function _setGuardian(address guardian, uint32 delay, bytes32 commitment) internal {
        AccountStorage storage account = _account();
        if (guardian == address(this)) revert InvalidGuardian();
        if (guardian == address(0)) (delay, commitment) = (0, 0);
        else if (delay < DELAY_MIN || delay > DELAY_MAX) revert InvalidDelay();
        _cancel(account);
        (account.guardian, account.delay, account.vetoes, account.barredUntil) = (guardian, delay, 0, 0);
        account.commitment = commitment;
        emit GuardianSet(guardian, delay, commitment);
    }

    /// @dev Ends the pending recovery against the guardian. The second time bars it, and the count begins again.
    function _veto() internal {
        AccountStorage storage account = _account();
        if (!_isPending(account)) revert NoRecovery();
        _clearRecovery(account);
        uint8 vetoes = account.vetoes + 1;
        emit RecoveryVetoed(account.recoveryId, vetoes);
        if (vetoes == VETOES_TO_BAR) {
            vetoes = 0;
            account.barredUntil = uint40(block.timestamp + BAR_TIME);
            emit GuardianBarred(account.barredUntil);
        }
        account.vetoes = vetoes;
    }

    /// @dev The guardian's own withdrawal, which is no veto.
    function _withdraw() internal {
        AccountStorage storage account = _account();
        if (!_isPending(account)) revert NoRecovery();
        _cancel(account);
    }

    function _cancel(AccountStorage storage account) private {
        if (account.readyAt == 0) return;
        if (_isPending(account)) emit RecoveryCancelled(account.recoveryId);
        _clearRecovery(account);
    }

    function _clearRecovery(AccountStorage storage account) private {
        (account.readyAt, account.recoveryX, account.recoveryY, account.recoveryLabel) = (0, 0, 0, 0);
    }

    function _isPending(AccountStorage storage account) private view returns (bool) {
        return account.readyAt != 0 && block.timestamp < account.readyAt + FINISH_TIME;
    }
}
