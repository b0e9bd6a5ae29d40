set @mintid_create = concat('create table if not exists {sequence} (v bigint unsigned not null auto_increment primary key) engine=InnoDB auto_increment=', {floor}, ' comment=''{mark}''')

prepare mintid_create from @mintid_create

execute mintid_create

deallocate prepare mintid_create

drop procedure if exists {function}

create procedure {function}(inout id {type})
begin
  declare minted bigint unsigned;
  if id is null or id = 0 then
    insert into {sequence} values ();
    set minted = last_insert_id();
    delete from {sequence} where v = minted;
    if minted > {last} then
      signal sqlstate '45000' set message_text = 'mintid: the layout has no later time';
    end if;
    set id = {result};
    set @mintid_default = id;
  end if;
end

alter table {table} alter column {column} set default 0

drop trigger if exists {trigger}

create trigger {trigger} before insert on {table} for each row call {function}(new.{column})
