execute immediate concat('create sequence if not exists {sequence} start with ', {floor}, ' minvalue 0 maxvalue {last} increment by 0 cache 1000 nocycle engine=InnoDB comment=''{mark}''')

alter table {table} alter column {column} set default ({result})
